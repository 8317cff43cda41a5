package node

// SealEarly makes segments seal after few rows, so that a test has sealed ones.
func SealEarly(c *Config, rows int) { c.sealRows = rows }
