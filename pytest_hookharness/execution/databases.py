"""
This module is concerned with databases: SQLite files as the text that makes them.

Middle floor: execution. What changes in such a file is a row and not a byte, so its content is looked into,
and changed, as statements.
"""

from __future__ import annotations

import sqlite3

_MAGIC = b"SQLite format 3\0"


def is_database(data: bytes) -> bool:
    """
    Whether some bytes are those of a SQLite file.
    """
    return data.startswith(_MAGIC)


def statements(data: bytes) -> bytes:
    """
    The statements that make a database; the bytes themselves if it cannot be read.
    """
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(data)
        return "\n".join(connection.iterdump()).encode()
    except sqlite3.Error:
        return data
    finally:
        connection.close()


def database(text: bytes) -> bytes:
    """
    The database that some statements make.

    Raises:
        ValueError: They make none.
    """
    connection = sqlite3.connect(":memory:")
    try:
        connection.executescript(text.decode())
        return connection.serialize()
    except sqlite3.Error as error:
        raise ValueError(f"no database can be made of it: {error}") from error
    finally:
        connection.close()
