"""Long texts in sentences: in one line, and not all of it."""


def in_one_line(text: str, most: int) -> str:
    """Return a text in one line, with dots behind its first characters if it has more than ``most``."""
    words = " ".join(text.split())
    return words if len(words) <= most else f"{words[:most]}..."
