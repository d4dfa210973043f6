"""
This module is concerned with databases: SQLite files as the text that makes them.

Middle floor: execution. What changes in such a file is a row and not a byte, so its content is looked into,
and changed, as statements.
"""

from __future__ import annotations

import sqlite3

# Numbers in the head of the file that programs may set, and that are in no statement.
_HEADS = ("user_version", "application_id")
_MAGIC = b"SQLite format 3\0"


def is_database(data: bytes) -> bool:
    """
    Whether some bytes are those of a SQLite file.
    """
    return data.startswith(_MAGIC)


def is_statements(text: bytes | None) -> bool:
    """
    Whether a content is the statements that make a database, as `statements` gives them.
    """
    return text is not None and text.startswith(f"PRAGMA {_HEADS[0]}=".encode())


def statements(data: bytes) -> bytes:
    """
    The statements that make a database; the bytes themselves if it cannot be read.
    """
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(data)
        heads = [f"PRAGMA {name}={_value(connection, name)};" for name in _HEADS]
        return "\n".join([*heads, *connection.iterdump()]).encode()
    except sqlite3.Error:
        return data
    finally:
        connection.close()


def _value(connection: sqlite3.Connection, name: str) -> int:
    row: tuple[int] = connection.execute(f"PRAGMA {name}").fetchone()
    return row[0]


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
