"""
The simple commands in a line of shell, as far as that can be read off the line.
"""

import re
import shlex

HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n.*?^\s*\2$", re.DOTALL | re.MULTILINE)
SUBSTITUTION = re.compile(r"\$\(([^()]*)\)|`([^`]*)`|[<>]\(([^()]*)\)")
SINGLE = re.compile(r"'[^']*'")
SHELLS = {"sh", "bash", "dash", "zsh", "ksh"}
BEFORE = {"sudo", "env", "nohup", "time", "command", "exec", "nice", "xargs", "timeout", "then", "do", "else", "{", "!"}
MARKS = set("();<>|&\n")


def commands(line, depth=0):
    """
    Yield each simple command as its words, those within others first.
    """
    if depth > 4:
        return
    for found in HEREDOC.finditer(line):
        opening = line[: found.start()].rpartition("\n")[2]
        if any(word in SHELLS for word in opening.split()):
            yield from commands(found[0].partition("\n")[2].rpartition("\n")[0], depth + 1)
    line = HEREDOC.sub("", line)
    # Within single quotes nothing is run.
    for found in SUBSTITUTION.finditer(SINGLE.sub("''", line)):
        yield from commands(next(part for part in found.groups() if part is not None), depth + 1)
    lexer = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    words = []
    try:
        for token in lexer:
            if set(token) <= MARKS:
                yield from simple(words, depth)
                words = []
            else:
                words.append(token)
    except ValueError:
        pass
    yield from simple(words, depth)


def simple(words, depth):
    """
    Yield a simple command without what stands before it, and what it has a shell run.
    """
    while words and (words[0] in BEFORE or re.match(r"\w+=|-|\d+[smh]?$", words[0])):
        words = words[1:]
    if not words:
        return
    name = words[0].rsplit("/", 1)[-1]
    if name in SHELLS:
        for place, word in enumerate(words):
            if re.fullmatch(r"-\w*c", word):
                yield from commands(" ".join(words[place + 1 : place + 2]), depth + 1)
    elif name == "eval":
        yield from commands(" ".join(words[1:]), depth + 1)
    yield [name, *words[1:]]
