"""Whether classes can be separated, with proofs that hold exactly on the data as given."""
