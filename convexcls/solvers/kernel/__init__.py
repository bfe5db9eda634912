"""Kernel machines: sequential minimal optimization on rows of the kernel matrix. Imports ``solvers.base`` and below."""
