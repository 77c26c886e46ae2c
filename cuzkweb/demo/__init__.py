"""The circuit that the demo proves, compiled, and a maker of inputs for it."""
