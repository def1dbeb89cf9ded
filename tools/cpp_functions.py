"""Finds the function bodies of a C++ file without a compiler: enough for lengths, nesting and parameter counts.

The text is cut into tokens (comments, literals and preprocessor lines are dropped); braces are then told apart by the
statement that opens them: namespace, type, function body, initialiser.
"""

import dataclasses
import re

TOKEN = re.compile(r"""
    (?P<skip>//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<text>R"(?P<delim>[^\s()\\]{0,16})\(.*?\)(?P=delim)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')
  | (?P<word>[A-Za-z_]\w*|\d(?:[\w.]|'\d)*)
  | (?P<punct>::|->|[^\s])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)

CONTROL = {"if", "for", "while", "switch", "do", "else", "try", "catch"}
TYPES = {"class", "struct", "union", "enum"}


@dataclasses.dataclass
class Token:
    text: str
    line: int


@dataclasses.dataclass
class Function:
    name: str
    line: int
    lines: int
    parameters: int
    nesting: int


def tokenize(text):
    tokens, line, position = [], 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        if match.lastgroup == "skip":
            continue
        tokens.append(Token('""' if match.group("text") else match.group(), line))
    return tokens


def closing(tokens, start):
    """Index of the bracket that closes the one at `start`."""
    pairs = {"{": "}", "(": ")", "[": "]"}
    opening, end = tokens[start].text, pairs[tokens[start].text]
    depth = 0
    for i in range(start, len(tokens)):
        if tokens[i].text == opening:
            depth += 1
        elif tokens[i].text == end:
            depth -= 1
            if depth == 0:
                return i
    return len(tokens) - 1


def count_parameters(tokens):
    """Parameters between the parentheses given (without them)."""
    if not tokens or [t.text for t in tokens] == ["void"]:
        return 0
    depth, count = 0, 1
    for token in tokens:
        if token.text in "([{<":
            depth += 1
        elif token.text in ")]}>":
            depth -= 1
        elif token.text == "," and depth == 0:
            count += 1
    return count


def parameter_list(statement):
    """Index of the "(" that opens the parameter list of a function's head, or None if the statement is no function."""
    angle = 0
    for i, token in enumerate(statement):
        text, previous = token.text, statement[i - 1].text if i else ""
        if text == "operator":
            after = next(j for j in range(i + 1, len(statement)) if statement[j].text == "(")
            return after + 2 if statement[after + 1].text == ")" and after == i + 1 else after
        if text == "<":
            angle += 1
        elif text == ">" and previous != "-":
            angle -= 1
        elif text == "=" and angle <= 0:
            return None
        elif text == "(" and angle <= 0 and previous not in ("alignas", "decltype", "explicit", "noexcept", "requires"):
            return i
    return None


def opens_type(statement):
    angle = 0
    for token in statement:
        angle += {"<": 1, ">": -1}.get(token.text, 0)
        if token.text in TYPES and angle <= 0:
            return True
        if token.text == "(" and angle <= 0:
            return False
    return False


def nesting(body):
    """Deepest level of control statements with braces inside a function body."""
    deepest, head, open_brackets = 0, set(), []  # an open bracket: (its text, whether a control statement, the words before)
    for token in body:
        text = token.text
        if text in "({[":
            control = text == "{" and bool(head & CONTROL) and not head & {"return", "="}
            open_brackets.append((text, control, head))
            deepest = max(deepest, sum(bracket[1] for bracket in open_brackets))
            head = set()
        elif text in ")}]" and open_brackets:
            opening, _, before = open_brackets.pop()
            head = set() if opening == "{" else before
        elif text == ";" and not (open_brackets and open_brackets[-1][0] == "("):
            head = set()
        else:
            head.add(text)
    return deepest


def is_member_initialiser(statement, parameters):
    """Whether a brace after `statement` initialises a member in a constructor's list (and opens no body)."""
    after = closing(statement, parameters) + 1
    return any(t.text == ":" for t in statement[after:]) and statement[-1].text not in (")", "}")


def describe(statement, parameters, body):
    close = closing(statement, parameters)
    first, last = statement[0].line, body[-1].line
    words = [token.text for token in statement[:parameters]]
    name = "".join(words[words.index("operator"):]) if "operator" in words else words[-1]
    return Function(name=name, line=statement[parameters].line, lines=last - first + 1,
                    parameters=count_parameters(statement[parameters + 1:close]), nesting=nesting(body[1:-1]))


def functions(text):
    """Every function of a file that has a body, in order."""
    tokens, found, statement, i = tokenize(text), [], [], 0
    while i < len(tokens):
        token = tokens[i]
        if token.text in "()[" and token.text != ")":
            end = closing(tokens, i)
            statement += tokens[i:end + 1]
            i = end + 1
            continue
        if token.text != "{":
            statement = [] if token.text in ";}" else statement + [token]
            i += 1
            continue
        parameters = parameter_list(statement)
        if any(t.text in ("namespace", "extern") for t in statement) or opens_type(statement):
            statement, i = [], i + 1
            continue
        end = closing(tokens, i)
        if parameters is not None and not is_member_initialiser(statement, parameters):
            found.append(describe(statement, parameters, tokens[i:end + 1]))
            statement = []
        else:
            statement += tokens[i:end + 1]
        i = end + 1
    return found
