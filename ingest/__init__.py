"""The corpus and its index: documents, filters, embedder, store."""
