"""The documentation, served by the service itself."""
