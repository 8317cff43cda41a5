// Package tokenfile adds tokens to a tokens file and revokes them, and leaves the rest of the file as
// it is.
package tokenfile
