"""Exact total variation on chains, trees and forests."""
