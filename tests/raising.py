"""What calls raise, in one line of a test."""

import pytest


def raises(error, message, call, /, *arguments, **named):
    """Return what `call` says: it raises `error` with one line of text in which the pattern `message` is found."""
    with pytest.raises(error, match=message) as caught:
        call(*arguments, **named)
    assert "\n" not in str(caught.value)
    return str(caught.value)
