"""Records what the installed PyTorch's AOTAutograd and partitioner do, in the form that the readers of Sapwood take."""
