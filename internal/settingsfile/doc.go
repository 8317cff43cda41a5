// Package settingsfile replaces a file of somebody's settings so that a crash, or another program
// that changes it meanwhile, loses nothing.
package settingsfile
