"""Measurements that run beside the tests; each module is a command with `--help`."""
