"""How a DataLoader works: batches from samples, worker processes, and the memory that batches travel in."""
