"""An example plug-in of sfumato: one principle, one method, one distance, one loss and one attack."""
