"""Values that pass between the packages: frozen, and without effects or imports from other packages."""
