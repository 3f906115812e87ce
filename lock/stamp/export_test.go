package stamp

// Tick is how old a change must be before a look at it is trusted.
const Tick = tick
