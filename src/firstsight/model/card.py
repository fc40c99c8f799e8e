"""The model card: what a model was made of, how it came out, and where it fails. Written beside every model."""

from __future__ import annotations

from firstsight.core.settings import specs_of
from firstsight.methods.catalogue import method
from firstsight.model.examples import SIDE
from firstsight.model.model import Model

LIMITS = """\
- It knows its known categories only by the support images; photographs taken otherwise may be taken for new.
- A new category that looks like a known one is often taken for it.
- It always answers. An image that shows no category at all is assigned or founds one all the same."""
LEADS = "- The first image of a new category is its centre for good; a poor first photograph makes a poor category."
LEARNS = "- A category learns from the images it is answered with, wrong ones included, until a person moves those."


def model_card(model: Model, name: str) -> str:
    """The card as Markdown."""
    s, report = model.settings, model.report
    images = sum(category.support for category in model.categories)
    changed = "\n".join(
        f"- `{key}`: {value}" for key, value in s.as_dict().items() if value != specs_of(type(s))[key].default
    )
    listed = "\n".join(f"- {category.name}: {category.support}" for category in model.categories)
    outcome = "\n".join(f"- {line}" for line in report.get("lines", []))
    discovers = "registers new ones as they come" if model.decision.discovers else "never answers with a new one"
    return f"""# {name}

A Firstsight model: tells the {len(model.categories)} categories below apart, and {discovers}.
Method: `{s.method}`, {method(s.method).about}; decides by {method(s.method).decides}.

## How it came out

{outcome or "- no report"}

## Data

{len(model.categories)} known categories, {images} support images. {_pictures(model)}

{listed}

## Encoder

{_encoder(model)}

## Settings that are not the default

{changed or "- none"}

## Known limits

{LIMITS}
{LEARNS if model.register().learns else LEADS}
"""


def _encoder(model: Model) -> str:
    if model.encoder is None:
        return f"None: it answers features of {model.decision.width} values, made as those it was fitted on."
    preprocess = model.encoder.preprocess
    return (
        f"`{model.settings.backbone}`; licence of its weights: {model.encoder.licence}. Images are resized to "
        f"{preprocess.resize} and cropped to\n{preprocess.crop} pixels."
    )


def _pictures(model: Model) -> str:
    """What of the support set lies in the folder."""
    if model.examples is None or model.examples.pictures is None:
        return "No image is in this folder."
    return (
        f"{len(model.examples.pictures)} of them lie in this folder as thumbnails of {SIDE} x {SIDE} pixels without "
        "metadata, to explain answers with: whoever has the model can see them. `fit --no-thumbnails` keeps none."
    )
