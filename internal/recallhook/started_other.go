//go:build !linux

package recallhook

import "time"

// Started returns when the process was started, as far as is known: now.
func Started() time.Time { return time.Now() }
