"""What hook runs look at, recorded through the kernel."""
