"""Version 1 of the tournament service's wire contract."""
