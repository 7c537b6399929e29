"""Points in space for TensorBoard's projector, which reads them from files beside the log."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf import text_format
from PIL import Image
from tensorboard.plugins.projector.projector_config_pb2 import EmbeddingInfo, ProjectorConfig

from .summary import array_of, grid, scaled

CONFIG = "projector_config.pbtxt"


def quoted(tag: str) -> str:
    """A tag as the name of a folder."""
    return "".join(f"%{ord(c):02x}" if c in "%/\\" else c for c in tag)


def write(
    log_dir: str, config: ProjectorConfig, mat: Any, metadata: Any, label_img: Any, step: int | None, tag: str,
    header: Any,
) -> None:  # fmt: skip
    """Write the files of an embedding, and enter it in the config."""
    points = array_of(mat)
    if points.ndim != 2:
        raise AssertionError(f"add_embedding(): mat should be 2D, got shape {list(points.shape)}")
    if metadata is not None and len(metadata) != len(points):
        raise AssertionError(
            f"add_embedding(): #labels should equal with #data points, got {len(metadata)} and {len(points)}"
        )
    part = f"{step or 0:05}/{quoted(tag)}"
    folder = Path(log_dir, part)
    folder.mkdir(parents=True, exist_ok=True)
    info = EmbeddingInfo(tensor_name=f"{tag}:{step or 0:05}", tensor_path=f"{part}/tensors.tsv")
    if metadata is not None:
        rows = [row if header else [row] for row in metadata]
        if header:
            if any(len(row) != len(header) for row in rows):
                raise AssertionError("add_embedding(): len of header must be equal to len of each row of metadata")
            rows = [header, *rows]
        write_rows(folder / "metadata.tsv", rows)
        info.metadata_path = f"{part}/metadata.tsv"
    if label_img is not None:
        pictures = array_of(label_img)
        if pictures.ndim != 4 or len(pictures) != len(points):
            raise AssertionError(
                f"add_embedding(): label_img should have the shape (N, C, H, W), N={len(points)}, got "
                f"{list(pictures.shape)}"
            )
        if pictures.shape[2] != pictures.shape[3]:
            raise AssertionError(f"add_embedding(): Image should be square, got {list(pictures.shape[2:])}")
        columns = math.ceil(math.sqrt(len(pictures)))
        sprite = np.zeros((columns * columns, *pictures.shape[1:]), np.uint8)
        sprite[: len(pictures)] = scaled(pictures)
        pixels = grid(sprite.transpose(0, 2, 3, 1), columns)
        Image.fromarray(pixels.repeat(3, 2) if pixels.shape[2] == 1 else pixels).save(folder / "sprite.png")
        info.sprite.image_path = f"{part}/sprite.png"
        info.sprite.single_image_dim.extend([pictures.shape[3], pictures.shape[2]])
    write_rows(folder / "tensors.tsv", points.tolist())
    for old in [entry for entry in config.embeddings if entry.tensor_name == info.tensor_name]:
        config.embeddings.remove(old)
    config.embeddings.append(info)
    Path(log_dir, CONFIG).write_text(text_format.MessageToString(config), encoding="utf-8")


def write_rows(path: Path, rows: Any) -> None:
    """A table with tabs between the columns; tabs and line breaks in entries would move the rest."""
    lines = ["\t".join(str(x).replace("\t", " ").replace("\n", " ") for x in row) for row in rows]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
