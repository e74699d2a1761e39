"""One module a framework: how it plays a script."""
