"""The demo: a circuit worth showing, inputs for it, and a tour of the service with them."""
