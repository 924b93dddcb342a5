"""What an attacker may know: dictionaries, and the partial order between them."""
