"""Write tests/data/optim.json and tests/data/optim_schedules.json: paths of PyTorch's optimizers and schedules.

Run it where PyTorch is installed; tests/test_optim.py, test_lr_scheduler.py and test_swa.py compare them with ours.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import torch

DATA = Path(__file__).parent.parent / "tests" / "data"
STEPS = 50
KEPT = (1, 2, 3, 5, 10, 20, 35, 50)

MATRIX = [[1.0, -2.0], [3.0, 0.5], [-0.25, 0.75]]
VECTOR = [0.5, -1.5]
TARGET = [0.5, 0.25, -1.0]

OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.01}),
    ("SGD", {"lr": 0.01, "momentum": 0.9}),
    ("SGD", {"lr": 0.01, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    ("SGD", {"lr": 0.01, "momentum": 0.5, "nesterov": True}),
    ("SGD", {"lr": 1e-4, "momentum": 0.5, "maximize": True}),
    ("SGD", {"lr": 0.01, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.05}),
    ("Adam", {"lr": 0.05, "betas": [0.5, 0.9], "eps": 1e-3, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True}),
    ("Adam", {"lr": 0.01, "maximize": True}),
    ("Adam", {"lr": 0.01, "weight_decay": 0.3, "decoupled_weight_decay": True}),
    ("AdamW", {"lr": 0.05}),
    ("AdamW", {"lr": 0.05, "weight_decay": 0.3, "amsgrad": True}),
    ("Adamax", {"lr": 0.05}),
    ("Adamax", {"lr": 0.05, "betas": [0.8, 0.9], "weight_decay": 0.1, "eps": 1e-3}),
    ("Adamax", {"lr": 0.01, "maximize": True}),
    ("NAdam", {"lr": 0.05}),
    ("NAdam", {"lr": 0.05, "momentum_decay": 0.1, "weight_decay": 0.1, "eps": 1e-3}),
    ("NAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.05}),
    ("RAdam", {"lr": 0.05, "betas": [0.8, 0.9], "weight_decay": 0.1, "eps": 1e-3}),
    ("RAdam", {"lr": 0.05, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Adagrad", {"lr": 0.2}),
    ("Adagrad", {"lr": 0.2, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    ("Adagrad", {"lr": 0.05, "maximize": True}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 2.0, "rho": 0.7, "eps": 1e-3, "weight_decay": 0.1}),
    ("Adafactor", {"lr": 0.1}),
    ("Adafactor", {"lr": 0.1, "beta2_decay": -0.5, "eps": [1e-3, 0.1], "d": 2.0, "weight_decay": 0.1}),
    ("Adafactor", {"lr": 0.01, "maximize": True}),
    ("ASGD", {"lr": 0.01}),
    ("ASGD", {"lr": 0.01, "t0": 10, "lambd": 0.1, "alpha": 0.5, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.02}),
    ("RMSprop", {"lr": 0.02, "alpha": 0.9, "eps": 1e-3, "weight_decay": 0.1, "momentum": 0.5}),
    ("RMSprop", {"lr": 0.02, "centered": True}),
    ("RMSprop", {"lr": 0.01, "centered": True, "momentum": 0.5, "maximize": True}),
    ("Rprop", {"lr": 0.05}),
    ("Rprop", {"lr": 0.1, "etas": [0.4, 1.5], "step_sizes": [1e-3, 0.3]}),
    ("Rprop", {"lr": 0.01, "maximize": True}),
    ("Muon", {"lr": 0.05}),
    ("Muon", {"lr": 0.05, "nesterov": False, "momentum": 0.8, "weight_decay": 0.0, "ns_steps": 3}),
    ("Muon", {"lr": 0.05, "adjust_lr_fn": "match_rms_adamw"}),
    ("LBFGS", {"lr": 0.1, "max_iter": 2}),
    ("LBFGS", {"max_iter": 1, "line_search_fn": "strong_wolfe"}),
    ("LBFGS", {"max_iter": 4, "history_size": 3, "line_search_fn": "strong_wolfe"}),
    ("LBFGS", {"lr": 0.3, "max_iter": 3, "max_eval": 2, "tolerance_change": 1e-5}),
]
COMPLEX = {"SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "ASGD", "RMSprop", "Rprop"}

SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("StepLR", {"step_size": 3}),
    ("StepLR", {"step_size": 1, "gamma": 0.9}),
    ("MultiStepLR", {"milestones": [2, 5, 5, 11], "gamma": 0.5}),
    ("ConstantLR", {}),
    ("ConstantLR", {"factor": 0.5, "total_iters": 3}),
    ("LinearLR", {}),
    ("LinearLR", {"start_factor": 0.1, "end_factor": 0.7, "total_iters": 8}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("PolynomialLR", {}),
    ("PolynomialLR", {"total_iters": 12, "power": 2.5}),
    ("CosineAnnealingLR", {"T_max": 5}),
    ("CosineAnnealingLR", {"T_max": 7, "eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", {"T_0": 4}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.02}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.9, "step_size_up": 4}),
    (
        "CyclicLR",
        {"base_lr": [0.1, 0.2], "max_lr": [0.9, 0.8], "step_size_up": 3, "step_size_down": 5, "mode": "triangular2"},
    ),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.9, "step_size_up": 4, "mode": "exp_range", "gamma": 0.9}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.9, "step_size_up": 4, "cycle_momentum": False}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 31}),
    ("OneCycleLR", {"max_lr": [1.0, 0.5], "epochs": 8, "steps_per_epoch": 4, "anneal_strategy": "linear"}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 40, "three_phase": True, "pct_start": 0.25, "base_momentum": 0.5}),
    ("SWALR", {"swa_lr": 0.05}),
    ("SWALR", {"swa_lr": [0.05, 0.5], "anneal_epochs": 4, "anneal_strategy": "linear"}),
    ("SWALR", {"swa_lr": 0.05, "anneal_epochs": 0}),
]
RESUMABLE = {"StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "PolynomialLR", "CosineAnnealingLR",
             "CosineAnnealingWarmRestarts"}  # fmt: skip

PLATEAU: list[dict[str, Any]] = [
    {"patience": 1},
    {"patience": 2, "factor": 0.5, "cooldown": 2, "min_lr": 0.01},
    {"mode": "max", "patience": 0, "threshold": 0.1, "threshold_mode": "abs"},
    {"patience": 0, "eps": 0.05, "min_lr": [0.2, 0.3]},
]
METRICS = [5.0, 4.0, 4.1, 4.2, 3.9, 3.95, 4.0, 3.9, 3.89, 3.9, 3.9, 3.9, 3.9, 2.0, 2.5, 2.4, 2.3, 2.2, 2.1, 2.0]

COMBINED: list[tuple[str, list[tuple[str, dict[str, Any]]], list[int]]] = [
    ("SequentialLR", [("ConstantLR", {"factor": 0.1, "total_iters": 2}), ("ExponentialLR", {"gamma": 0.9})], [4]),
    (
        "SequentialLR",
        [("LinearLR", {"total_iters": 3}), ("CosineAnnealingLR", {"T_max": 6}), ("StepLR", {"step_size": 2})],
        [3, 9],
    ),  # fmt: skip
    ("SequentialLR", [("LinearLR", {"total_iters": 3}), ("CosineAnnealingWarmRestarts", {"T_0": 4})], [5]),
    ("ChainedScheduler", [("ConstantLR", {"factor": 0.1, "total_iters": 2}), ("ExponentialLR", {"gamma": 0.9})], []),
    ("ChainedScheduler", [("LinearLR", {"total_iters": 4}), ("CosineAnnealingLR", {"T_max": 6})], []),
]


def path(name: str, options: dict[str, Any], complex_: bool = False) -> list[list[float]]:
    """Where an optimizer is after the steps that are kept."""
    dtype = torch.complex128 if complex_ else torch.float64
    a, v = torch.tensor(MATRIX, dtype=dtype), torch.tensor(VECTOR, dtype=dtype)
    if complex_:
        a, v = a * (1 + 0.5j), v * (0.5 - 1j)
    a.requires_grad_()
    v.requires_grad_()
    target = torch.tensor(TARGET, dtype=dtype)
    params = [a] if name == "Muon" else [a, v]
    options = {k: tuple(x) if isinstance(x, list) else x for k, x in options.items()}
    optimizer = getattr(torch.optim, name)(params, **options)

    def closure() -> Any:
        optimizer.zero_grad()
        residual = a @ v - target
        loss = (residual.abs() ** 2).sum() + 0.1 * (a.abs() ** 2).sum() + 0.05 * ((v.abs() ** 2) ** 2).sum()
        loss.backward()
        return loss

    out = []
    for step in range(1, STEPS + 1):
        if name == "LBFGS":
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
        if step in KEPT:
            parts = [torch.view_as_real(p.detach()) if complex_ else p.detach() for p in params]
            out.append([x for part in parts for x in part.reshape(-1).tolist()])
    return out


def optimizer_of_two_groups(**options: Any) -> Any:
    p, q = (torch.zeros(1, requires_grad=True) for _ in range(2))
    return torch.optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.5, **options}], lr=1.0, momentum=0.9)


def found(name: str) -> Any:
    return getattr(torch.optim.lr_scheduler, name, None) or getattr(torch.optim.swa_utils, name)


def rates(optimizer: Any, schedule: Any, epochs: int = 30) -> list[list[float]]:
    """Rates and momentum of both groups, epoch after epoch."""
    out = []
    for _ in range(epochs):
        out.append([x for g in optimizer.param_groups for x in (g["lr"], g["momentum"])])
        optimizer.step()
        schedule.step()
    return out


def main() -> None:
    optimizers = [
        {"name": name, "options": options, "complex": complex_, "path": path(name, options, complex_)}
        for name, options in OPTIMIZERS
        for complex_ in ([False, True] if name in COMPLEX else [False])
    ]
    write(
        "optim.json", {"matrix": MATRIX, "vector": VECTOR, "target": TARGET, "steps": STEPS, "kept": KEPT}, optimizers
    )

    schedules: list[dict[str, Any]] = []
    for name, options in SCHEDULES:
        optimizer = optimizer_of_two_groups()
        schedules.append(
            {"name": name, "options": options, "rates": rates(optimizer, found(name)(optimizer, **options))}
        )
        if name in RESUMABLE:
            optimizer = optimizer_of_two_groups()
            for group in optimizer.param_groups:
                group["initial_lr"] = 2 * group["lr"]
            schedule = found(name)(optimizer, **options, last_epoch=3)
            schedules.append(
                {"name": name, "options": options, "last_epoch": 3, "rates": rates(optimizer, schedule, 12)}
            )
    for kind, parts, milestones in COMBINED:
        optimizer = optimizer_of_two_groups()
        made = [found(name)(optimizer, **options) for name, options in parts]
        schedule = found(kind)(optimizer, made, milestones) if milestones else found(kind)(made)
        schedules.append(
            {"name": kind, "parts": parts, "milestones": milestones, "rates": rates(optimizer, schedule, 20)}
        )
    for options in PLATEAU:
        optimizer = optimizer_of_two_groups()
        schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        out = []
        for metric in METRICS:
            schedule.step(metric)
            out.append([group["lr"] for group in optimizer.param_groups])
        schedules.append({"name": "ReduceLROnPlateau", "options": options, "metrics": METRICS, "rates": out})
    write("optim_schedules.json", {}, schedules)


def write(name: str, head: dict[str, Any], cases: list[dict[str, Any]]) -> None:
    """One case a line."""
    fields = "".join(f"{json.dumps(k)}: {json.dumps(v)},\n" for k, v in head.items())
    (DATA / name).write_text("{\n" + fields + '"cases": [\n' + ",\n".join(map(json.dumps, cases)) + "\n]\n}\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
