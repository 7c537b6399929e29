"""Tables of calls of operators, one for each family."""

import importlib
import pkgutil

FAMILIES = {
    module.name: importlib.import_module(f"{__name__}.{module.name}").SAMPLES
    for module in pkgutil.iter_modules(__path__)
}
SAMPLES = [sample for family in FAMILIES.values() for sample in family]
