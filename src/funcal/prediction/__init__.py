"""Prediction at new controls: θ by Proposition 1, then the response by the Gaussian process predictive."""

from .functional_parameters import ThetaProcessSettings as ThetaProcessSettings
from .functional_parameters import predict_theta as predict_theta
from .responses import predict_responses as predict_responses
from .responses import printed_variance as printed_variance

__all__ = ["ThetaProcessSettings", "predict_responses", "predict_theta", "printed_variance"]
