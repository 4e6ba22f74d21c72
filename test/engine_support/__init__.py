"""Helpers of the tests of the engine; apart from `support`, which never imports the package."""
