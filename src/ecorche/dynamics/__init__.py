"""What lags behind the kinematic answer: methods on points and springs, without knowledge of bodies."""
