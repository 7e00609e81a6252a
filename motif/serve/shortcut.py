"""A short way to the answer that is asked for most, a position's evaluation.

Finding the route, and what its function takes, costs the framework several times what the evaluation does.
"""

from typing import Any

from fastapi import HTTPException
from fastapi.responses import Response
from pydantic import ValidationError

from motif.runtime.errors import MotifError
from motif.serve.desk import Desk
from motif.serve.motif_api import quick_evaluation
from motif.serve.questions import EvaluateQuestion

PATH = "/api/v1/evaluate"


class Shortcut:
    """An ASGI application that answers evaluations itself and hands everything else to another one.

    So it does with what it cannot answer: errors are worded in one place.
    """

    def __init__(self, app: Any, desk: Desk) -> None:
        self._app = app
        self._desk = desk

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] != PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        first: Any
        try:
            first = await receive()
        except HTTPException as error:
            first = error
        answer = self._answer(first)
        if answer is not None:
            await answer(scope, receive, send)
            return

        async def again() -> Any:
            nonlocal first
            message, first = first, None
            if isinstance(message, HTTPException):
                raise message
            return await receive() if message is None else message

        await self._app(scope, again, send)

    def _answer(self, message: Any) -> Response | None:
        """The answer to a request whose body is all in `message`, if it is plain."""
        if isinstance(message, HTTPException) or message.get("more_body") or not message.get("body"):
            return None
        try:
            return quick_evaluation(self._desk, EvaluateQuestion.model_validate_json(message["body"]))
        except (ValidationError, MotifError):
            return None
