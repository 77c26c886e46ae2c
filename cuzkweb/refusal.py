"""What the service says when it refuses."""

import httpx


class ApiError(Exception):
    """The service refused a request; `code` is for programs, the text for people."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code


def refusal_of(answer: httpx.Response) -> ApiError:
    """The refusal in an answer, whether or not it is a problem document."""
    try:
        problem = answer.json()
    except ValueError:
        problem = {}
    faults = problem.get("errors") or [{}]
    detail = problem.get("detail") or problem.get("title") or f"the service answered {answer.status_code}"
    pointer = faults[0].get("pointer")
    text = f"{pointer}: {detail}" if pointer else detail
    return ApiError(answer.status_code, problem.get("code") or faults[0].get("code") or "", text)
