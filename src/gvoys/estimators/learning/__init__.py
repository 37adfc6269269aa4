"""What the learners are made of: shares of walk lengths, base kernels, choices by cross-validation, machines."""
