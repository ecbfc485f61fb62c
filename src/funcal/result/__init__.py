"""What comes out: fits, predictions, calibrations, and their files."""

from .calibration import Calibration as Calibration
from .fit import Fit as Fit
from .fit import PredictiveSample as PredictiveSample
from .prediction import Marginal as Marginal
from .prediction import Prediction as Prediction
from .protocol import CalibrationMethod as CalibrationMethod
from .protocol import Capabilities as Capabilities
from .protocol import Progress as Progress
from .protocol import check_supported as check_supported
from .protocol import silent as silent

__all__ = [
    "Calibration",
    "CalibrationMethod",
    "Capabilities",
    "Fit",
    "Marginal",
    "Prediction",
    "PredictiveSample",
    "Progress",
    "check_supported",
    "silent",
]
