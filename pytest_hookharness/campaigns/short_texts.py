"""Shorten texts for sentences."""


def in_one_line(text: str, most: int) -> str:
    """Return a text in one line, cut after ``most`` characters and marked with dots if it is longer."""
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[:most]}..."
