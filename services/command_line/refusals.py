"""Why a command ends without doing what it was asked: said in a sentence, never as a traceback."""


class WrongArgument(Exception):
    """What was given on the command line cannot be meant; the message says what can."""


class CannotRead(Exception):
    """What was asked for is not there, or cannot be reached or read."""
