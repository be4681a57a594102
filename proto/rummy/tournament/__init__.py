"""Generated code of the tournament service's wire contract."""
