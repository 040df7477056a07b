"""Whole models: ``ModelNew`` and its launchers run for real, in a sandbox of their own, each kernel in the simulator."""
