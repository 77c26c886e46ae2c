"""One command that runs the whole service: starts its processes, keeps them, stops every one."""
