"""Pages and files of the documentation. They hold nothing secret and are open to everybody."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from proving.handbook.pages import FILE_TYPES, SECTIONS, Page, files, folder, names, read_page

FIRST = "quickstart"


@dataclass(frozen=True, slots=True)
class Section:
    """A group of pages in the navigation."""

    title: str
    pages: tuple[Page, ...]


@require_safe
def first_page(_request: HttpRequest) -> HttpResponse:
    """Where a reader begins."""
    return redirect("handbook:page", FIRST)


@require_safe
def page(request: HttpRequest, name: str) -> HttpResponse:
    """One page of text."""
    root = reverse("handbook:first")
    try:
        shown = read_page(name, root)
    except KeyError as error:
        raise Http404("no such page") from error
    sections = [
        Section(title, tuple(read_page(each, root) for each in pages if each in names()))
        for title, pages in SECTIONS
    ]
    return render(request, "handbook/page.html", {"page": shown, "sections": sections})


@require_safe
def file(_request: HttpRequest, path: str) -> HttpResponse:
    """A picture, schema or description that a page refers to."""
    if path not in files():
        raise Http404("no such file")
    place = folder() / path
    return HttpResponse(place.read_bytes(), content_type=FILE_TYPES[place.suffix])
