"""Action-line muscles: paths of nodes from bone to bone, and any mesh driven by them."""
