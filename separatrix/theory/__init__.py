"""Exact tools: certificates, Walsh-Hadamard and Krawtchouk transforms, population gradients."""
