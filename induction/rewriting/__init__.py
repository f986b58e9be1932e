"""What is done with formulas for people: explaining them."""
