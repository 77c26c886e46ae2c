"""The arithmetic of two pairing-friendly curves: fields, points, MSM, NTT and pairings, on a device."""
