"""System checks for settings that would be unsafe where others can reach the service."""
