"""Kernels of the learners: shares of walk lengths, base kernels, selection and posteriors."""
