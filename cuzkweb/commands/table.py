"""Every command by name: where it lives and what it does, known without importing any."""

from pathlib import Path

COMMANDS = {
    "up": "run everything: embedded server, web, workers, Flower",
    "demo": "run everything, prove a demo circuit and verify the proofs",
    "web": "run the web server of the service",
    "worker": "run one worker of the service",
    "periodic": "run the periodic process of the service",
    "prove": "make a proof from a proving key and a witness or an input",
    "witness": "compute a witness from a witness generator and an input",
    "verify": "verify a proof",
    "check": "say what a file is, and what is wrong with it",
    "convert": "turn a proof or a verifying key into another form, or a key into a contract",
    "prepare": "compute multiples of a proving key once, so that `prove` has fewer additions to do",
    "setup": "make insecure development keys from a constraint system",
    "submit": "submit a job to the service",
    "watch": "watch a job of the service",
    "cancel": "cancel a job of the service",
    "priority": "change the priority of a job of the service",
    "status": "show what the service is doing",
    "circuits": "list the circuits of the service, or register one",
    "keys": "list, make and revoke API keys of the service",
    "completion": "print the completion of these commands for a shell",
    "bench": "measure proving, beside the peers that are installed",
}


def available() -> dict[str, str]:
    """The commands whose modules are installed, with their one-line help."""
    folder = Path(__file__).parent
    return {name: help_text for name, help_text in COMMANDS.items() if (folder / f"{name}.py").is_file()}
