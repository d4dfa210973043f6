"""An application."""
# imports


def split(text):
    return text.split()
