package live

// StartOn is for tests, which cannot have a name of this machine lead elsewhere.
var StartOn = startOn
