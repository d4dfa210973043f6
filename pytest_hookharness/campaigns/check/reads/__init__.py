"""What the scripts of hooks read from their input, by the language in which they are written."""
