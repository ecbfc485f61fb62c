"""Priors: the calibration parameters from the anchors (Section 5), everything else from Appendix A."""

from .calibration_prior import CalibrationPrior as CalibrationPrior
from .calibration_prior import LogScalePrior as LogScalePrior
from .calibration_prior import ThetaCentre as ThetaCentre
from .calibration_prior import ThetaPrior as ThetaPrior
from .calibration_prior import theta_centre as theta_centre
from .presets import PriorPreset as PriorPreset
from .presets import ThetaBounds as ThetaBounds
from .presets import paper_prior as paper_prior
from .presets import proper_prior as proper_prior
from .working_units import Centring as Centring
from .working_units import InputScale as InputScale
from .working_units import WorkingUnits as WorkingUnits

__all__ = [
    "CalibrationPrior",
    "Centring",
    "InputScale",
    "LogScalePrior",
    "PriorPreset",
    "ThetaBounds",
    "ThetaCentre",
    "ThetaPrior",
    "WorkingUnits",
    "paper_prior",
    "proper_prior",
    "theta_centre",
]
